#!/bin/sh
# Numbers with a fraction are printed and read by base/number.c alone, which does not depend on the
# locale: nothing else calls strtod, nor gives printf and its kin a conversion such as %.3f or %g.
cd "$1" || exit 1
find src cli serve -name '*.[ch]' ! -path src/base/number.c -print0 | xargs -0 perl -0777 -ne '
    while (/\b(?:strto[df]|strtold|atof|[sf]?scanf)\s*\(/g) {
        my $line = 1 + (substr($_, 0, pos) =~ tr/\n//);
        print "$ARGV:$line: use wfre_parse_real\n";
    }
    while (/\b(?:v?s?n?f?d?printf)\s*\((?:[^;"]|"(?:[^"\\]|\\.)*")*;/g) {
        my ($call, $end) = ($&, pos);
        next if join("", $call =~ /"((?:[^"\\]|\\.)*)"/g) !~ /%[-+ #0-9.*]*(?<!\.0)[aefgAEFG]/;
        my $line = 1 + (substr($_, 0, $end - length $call) =~ tr/\n//);
        print "$ARGV:$line: use wfre_format, wfre_text_format or cli_print\n";
    }' | { ! grep .; }
