root=$(sh calc.sh root 2 2>&1)
case $root in
*/*) ;;
*) echo "FAIL: root 2 gives \"$root\", which is no fraction"; exit 1 ;;
esac
n=${root%/*} d=${root#*/}
[ $((n * n)) -eq $((2 * d * d)) ] || { echo "FAIL: $root squared is $((n * n))/$((d * d)), want exactly 2"; exit 1; }
