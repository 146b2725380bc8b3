failed=0
expect() { # WANTED A OP B
	want=$1
	shift
	got=$(sh calc.sh "$@" 2>&1)
	[ "$got" = "$want" ] || { echo "FAIL: $* gives $got, want $want"; failed=1; }
}
expect 5 2 + 3
expect 2 7 - 5
expect 42 6 x 7
expect 4 12 / 3
exit $failed
