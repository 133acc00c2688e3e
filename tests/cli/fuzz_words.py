"""What fuzz.py makes command lines and files from: words that are good, bad and odd."""

# Numbers are refused, or are small: a large number that is allowed would only take long.
NUMBERS = ["-1", "0", "1", "2", "-0", "nan", "inf", "-inf", "1e400", "1e-400", str(10**30), str(-(10**30)), "0x10",
           "1.5", "²", "٣", "+", "1_0", "9" * 5000, "1e5000", "", " ", "null", "1,2"]  # fmt: skip
TEXTS = ["", " ", "\t", "\n", "-", "--", "---", "=", ":", "::", ":=", ",", ".", "..", "~", "*", "?", "%s", "{}",
         "{0.__class__}", "$HOME", "`id`", "'", '"', "\\", "\x01", "\x1b[31m", "\u202e", "é", "天元", "🎲", "\udcff",
         "x" * 10_000, "a1 " * 400, "../../etc/passwd", "[bold]x[/bold]",
         "[/]", "None", "true", "[]", "-h1", "--sims", "😀=1"]  # fmt: skip
GAMES = ["tictactoe", "tictactoe", "connect4", "gomoku6", "hex7", "othello6", "mnk:rows=3,cols=3,k=3",
         "connect:rows=4,cols=4,k=3"]  # fmt: skip
BAD_GAMES = ["mnk:rows=0", "mnk:rows=3,cols=3,k=99", "mnk:rows=-3,cols=3,k=3", "mnk", "mnk:", "mnk:rows", "mnk:rows=",
             "mnk:rows=3,rows=3", "mnk:rows=3,cols=3,k=3,rule=chess", "hex:size=0", "hex:size=99999", "othello:size=5",
             "othello:size=nan", "connect:rows=1,cols=1,k=1", "connect:rows=26,cols=99,k=4", "mnk:name=x",
             "tictactoe:rows=4", "gomoku", "ALL", "tictactoe ", "TICTACTOE", "mnk:rows=1,cols=1,k=1", ":", "hex:size=1",
             "mnk:rows=²,cols=3,k=3", f"mnk:rows={'9' * 5000}"]  # fmt: skip
PLAYERS = ["uniform", "uct:sims=5", "perfect", "zero:sims=2", "zero:zoo/tictactoe:sims=1", "greedy", "minimax:depth=1",
           "alphabeta:depth=1,memory=1", "uct:seconds=0.01", "level:n=3"]  # fmt: skip
BAD_PLAYERS = ["zero:../../etc", "zero:/dev/null", "zero:zoo/nowhere", "zero:zoo/..", "zero:::", "zero:sims=",
               "engine:cmd=", "engine:cmd=true", "engine:cmd=cat", "engine:cmd='", "engine:cmd=/nowhere", "engine",
               "engine:seconds=nan,cmd=true", "engine:memory=-1,cmd=true", "uct:seconds=nan", "uct:seconds=-1",
               "uct:sims=1e9", "uct:c=inf", "uct:guided=maybe", "uct:vcf=yes", "uct:vcf=yes,sims=3", "human", "human:x",
               "perfect:book=/dev/null", "perfect:book=nowhere", "alphabeta:depth=99", "minimax:depth=-1",
               "alphabeta:memory=999999", "zero:precision=fp64", "zero:search=x", "zero:leaves=0", "nobody",
               "uct:rollouts=0", "uct:sims=5,sims=6", "zero:runs/run:sims=1", "level:n=0", "level:x"]  # fmt: skip
SETTINGS = ["selfplay.games=1", "selfplay.games=-1", "selfplay.games=nan", "learner.batch_size=0", "nonsense.key=1",
            "learner", "=", "learner.=1", "network.name=nonsense", "network.channels=0", "network.blocks=-3",
            "selfplay.simulations=1e9", "length.minutes=nan", "channels=8", "blocks=1", "channels=-1", "channels=nan",
            "measure.opponents=nobody", "measure.opponents=zero:nowhere"]  # fmt: skip
MOVES = ["a1", "b2", "c3", "1", "4", "44", "4435", "a1b2", "z99", "pass", "h8", "-1", "a1a1", "１", "a" * 2000]  # fmt: skip
TINY = ["selfplay.games=2", "selfplay.simulations=2", "network.channels=4", "network.blocks=1", "measure.positions=2",
        "measure.games=2"]  # fmt: skip
TYPED = ["a1", "b2", "4", "undo", "hint", "eval", "resign", "help", "quit", "save", "save x.sgf", "save nowhere/x.txt",
         "save .", "load", "load x.sgf", "load /dev/null", "\x00", "天", "", "undo undo"]  # fmt: skip
DAMAGED = {  # what stands for a file of a kind, and what its name ends in
    "sgf": ".sgf", "psq": ".psq", "txt": ".txt", "openings": ".txt", "jsonl": ".jsonl", "book": ".book", "py": ".py",
}  # fmt: skip
WHOLE_FILES = ["", "null", "[]", "{}", "0", '"x"', "NaN", "[" * 100_000, '{"a":' * 50_000, "(" * 100_000, "(;" * 20_000,
               "1" * 100_000, "\x00" * 1000, "\ufeff", "\n" * 10_000, "= " * 1000, "[[[[", "raise SystemExit(3)",
               "x = 1/0", "import nowhere", "def f(:"]  # fmt: skip

# Words in angle brackets are filled in; those in square brackets are often left out.
COMMANDS: dict[str, int] = {  # a command line: how often
    "games [--json]": 1,
    "--version": 1,
    "--games <py> games": 3,
    "--games <py> show connect6 f6": 1,
    "show <game> <moves> [--json] [--svg <out>] [--save <out>]": 8,
    "show <sgf> [--json] [--svg <out>]": 8,
    "show <psq> [--save <out>]": 8,
    "show <txt> <moves>": 8,
    "analyse <game> <moves> --sims 20 [--search <number>] [--search uct] [--tree 2] [--top 2] [--json]": 5,
    "analyse <game> --player zero:<network> --sims 5": 5,
    "show <log>/games.jsonl [--game <number>] [--move <number>]": 4,
    "analyse <sgf> --sims 5 [--move <number>] [--json]": 4,
    "blunders <txt> --sims 5 [--top <number>] [--json]": 3,
    "blunders <log>/games.jsonl --game 1 --sims 5 [--player <player>]": 3,
    "openings make tictactoe -n 2 --player uct:sims=5 --out <openings> [--seed <number>]": 3,
    "match gomoku6 <player> <player> -n 2 --workers 1 --opening-rule <text>": 1,
    "solve connect4 44444326 <moves> [--weak] [--json]": 3,
    "solve connect4 --cells <text>": 2,
    "solve connect4 4444432255 --book <book>": 4,
    "solve connect4 44444322555577331 --make-book <book> --plies 1": 3,
    "play <game> <moves> --opponent <player> [--side second] [--seed 1]": 6,
    "train tictactoe -n new --generations 1 --workers 1 --set <setting> --set <setting> --plain": 2,
    "train --resume run --generations 1 --workers 1 --plain": 1,
    "train <game> --preset <text> --set <setting>": 2,
    "train --resume run --set <setting> --generations 1 --workers 1 --plain": 1,
    "config <game> [--preset <text>] [--set <setting>]": 3,
    "runs [--json]": 3,
    "runs rm run [--yes]": 1,
    "runs rm <text> --yes": 1,
    "bench learner <game> --steps 1 --rounds 1 --parts <text> --busy 0": 1,
    "report run [--out <out>]": 4,
    "export run <out> --positions 0 --games 0 [--no-weights]": 2,
    "kaggle pack --net <network> --out <out>": 2,
    "kaggle score <py> -n 1 --seconds 0.01 [--beside <player>] [--json]": 2,
    "gtp <game> [--player <player>]": 2,
    "analysis [--player <player>]": 1,
    "match <game> <player> uniform -n 2 --cluster <text> [--address <text>]": 1,
    "net <text> --game <game> --seconds 0 [--set <setting>] [--svg <out>] [--json]": 2,
    "net mnk --game tictactoe --seconds 0 --set <setting>": 2,
    "match <game> <player> <player> -n 2 --workers 1 [--out <log>] [--json]": 6,
    "match tictactoe <player> uniform -n 2 --workers 1 --openings <openings>": 4,
    "match tictactoe uniform uct:sims=5 -n 2 --workers 1 --out <log>": 4,
    "ablate <game> <setting> <setting> --generations 1 --seeds <number> -n 3 [--player <text>] [--set <setting>]": 2,
    "tournament <game> <player> <player> <player> -r 1 --workers 1 [--csv <out>] [--svg <out>] [--anchor <player>]": 4,
    "levels tictactoe -n 0 [--json]": 2,
    "levels tictactoe -n 2 --workers 1 --opening-plies 0 [--out <log>] [--save <out>] [--json]": 1,
    "sprt <game> <player> <player> --max-games 2 --workers 1 [--elo0 <number>] [--alpha <number>] [--elo1 <number>]": 4,
    "check <game> --positions 5 [--seed 1] [--json]": 3,
    "perft <game> 2 <moves> [--json]": 4,
    "demo --minutes <number> [--pause <number>] [--seed <number>]": 1,
    "reference run <jsonl> --player <player> [--json] [--mistakes 1]": 5,
    "reference check <jsonl> [--json]": 4,
    "reference make <out> -n 1 --plies 30-30 [--player <player>] [--seed 1]": 3,
    "reference curve run <jsonl> --sims 1 [--minutes <number>] [--svg <out>] [--beside <text>]": 4,
    "bench rules --peers <out>": 1,
    "bench search --peers <out>": 1,
    "bench <text>": 1,
    "bench selfplay --net <network> --rounds <number> --peers <out>": 1,
    "<text> <text>": 2,
}
LONG = {"--num-games", "--parts", "--rounds", "--max-games", "--positions", "--games", "--seconds", "--minutes",
        "--workers", "-n", "-r", "--live", "--undecided", "--open", "--generations", "--make-book"}  # fmt: skip
