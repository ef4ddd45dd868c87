"""What an editor asks about a text while it is being written: pure functions, a file per question.

A `Text` is what is known of one file; a `Project` is a text together with what it imports. Both are
values, and both are there for broken texts too. Places are a line and a column, counted from 1, as
in a `Span`.
"""
