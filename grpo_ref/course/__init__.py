"""The course: problems and their grading, the folder of a student, and what was reached."""
