"""Boards, one file each; the file's name is the generated file's."""
