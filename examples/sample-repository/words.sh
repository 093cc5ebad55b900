#!/bin/sh
# Counts the words of standard input, most frequent first.
LC_ALL=C tr -cs 'A-Za-z' '\n' | tr 'A-Z' 'a-z' | sed '/^$/d' | sort | uniq -c | sort -k1,1rn -k2 | awk '{ print $2, $1 }'
