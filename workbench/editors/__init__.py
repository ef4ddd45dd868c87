"""What editors and other programs need to colour texts of the language, made from one table that
the grammar gives (`workbench.models.language.editor.highlighting`)."""
