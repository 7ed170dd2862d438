"""Languages: their codes, how a text's language is found, and the words of each."""
