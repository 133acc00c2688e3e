"""`python -m tengen`"""

from tengen.cli import main

main()
