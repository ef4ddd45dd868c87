"""A model as a picture that can be edited: one level at a time as data, and visual edits that
become small edits of the text, which alone is the truth."""
