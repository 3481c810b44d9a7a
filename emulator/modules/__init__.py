"""Memories of modules: what a management interface reads of each kind, in each state.

Written from SFF-8472, SFF-8636, OIF-CMIS and OIF-ELSFP-CMIS, never from a decoder.
"""
