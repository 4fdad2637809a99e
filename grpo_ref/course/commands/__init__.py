"""The commands of the course, one file each, for students, instructors and authors."""
