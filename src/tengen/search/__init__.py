"""Tree search: batches of trees in arrays, with every variant a whole function."""
