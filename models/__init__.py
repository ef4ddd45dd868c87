"""The vocabulary: expressions, automata, the language, and what counts as a proof."""
