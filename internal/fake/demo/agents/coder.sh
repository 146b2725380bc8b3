#!/bin/sh
# A coding agent in a few lines. Like a real one it knows nothing but its prompt: each turn is a new process.
prompt=$(cat)
rewrite() { sed "$1" "$2" >rewritten && cat rewritten >"$2" && rm rewritten; } # SED-SCRIPT FILE

case $prompt in
*"## This Iteration"*) # the reviewer wants more
	rewrite 's#^/) #/) [ "$b" -ne 0 ] || { echo "calc: cannot divide by zero" >\&2; exit 3; }; #' calc.sh
	rewrite '/^exit /d' tests/basics.sh
	printf '%s\n' 'expect "calc: cannot divide by zero" 1 / 0' 'exit $failed' >>tests/basics.sh
	echo "The reviewer is right: the issue asks for division by zero, too. It has its sentence, its exit code and a test now."
	;;
*"7 - 5 gives -2"*) # the check of the last attempt said so
	rewrite 's/b - a/a - b/' calc.sh
	echo "The operands were the wrong way round."
	;;
*)
	rewrite 's/^-) .*/-) echo $((b - a)) ;;/' calc.sh
	echo "Subtraction added. Now it subtracts; this must be it."
	;;
esac
echo "<response>DONE</response>"
