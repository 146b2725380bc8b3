#!/bin/sh
# calc.sh A OP B prints what A OP B is, in whole numbers. OP is + - x or /.
a=$1 op=$2 b=$3
case $op in
+) echo $((a + b)) ;;
-) echo $((a + b)) ;;
x) echo $((a * b)) ;;
/) echo $((a / b)) ;;
*) echo "calc: there is no $op" >&2; exit 1 ;;
esac
