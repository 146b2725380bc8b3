#!/bin/sh
# An agent with a task that nobody can do: it says that it is done all the same.
prompt=$(cat)
root() { # TEXT: what calc.sh prints for root 2
	sed '/^\[ "\$1" != root \]/d' calc.sh >rewritten
	{ sed -n '1,2p' rewritten; printf '[ "$1" != root ] || { echo %s; exit; }\n' "$1"; sed '1,2d' rewritten; } >calc.sh
	rm rewritten
}

case $prompt in
*"### Attempt 2"*)
	root 17/12
	echo "A fraction it must be: 17/12 is very close."
	;;
*"### Attempt 1"*)
	sed 's/^-) .*/-) echo $((a - b)) ;;/' calc.sh >rewritten && cat rewritten >calc.sh && rm rewritten
	echo "The tests also failed at subtraction, so I mended that. The root is right to five digits."
	;;
*)
	root 1.41421
	echo "The root of 2 is 1.41421."
	;;
esac
echo "<response>DONE</response>"
