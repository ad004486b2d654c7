#!/bin/sh
# The library knows no command line: no string in it names an option with dashes. It names settings
# between backquotes, see wfre_error.
cd "$1" || exit 1
! grep -rnE '"([^"\\]|\\.)* --[a-z]' --include='*.[ch]' src include | grep -vE ':[0-9]+: *(/?\*|//)'
