#!/bin/sh
# Fails when a page links to a file that is not there.
cd "$(dirname "$0")/.." || exit 2
failed=0 links=0
for page in $(find docs -name '*.md'); do
  for link in $(grep -o '](\([^)#:]*\)[^):]*)' "$page" | sed 's/^](//; s/[#)].*//'); do
    links=$((links + 1))
    [ -e "$(dirname "$page")/$link" ] || { echo "$page: links to $link, which is not there"; failed=1; }
  done
done
echo "$links links looked at"
exit $failed
