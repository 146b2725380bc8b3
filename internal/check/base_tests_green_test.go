package check

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"
)

// TestMakesGreen: of a check that failed on the base commit, what it passes because of is told, and asked where that is
// not the product; of one that has passed all the time, what was loosened is asked.
func TestMakesGreen(t *testing.T) {
	if got := greenTime(time.Second, 2*time.Minute); got != 6*time.Minute {
		t.Errorf("a check that took two minutes on the base commit, and a second on the change, is given %s", got)
	}
	const asks = "\"sh check.sh\" failed on the base commit and passes because of "
	base := func(more project) project {
		p := project{
			"check.sh": "for f in lib/*.sh; do [ ! -f $f ] || . ./$f; done\n[ -z \"$skip\" ] || exit 0\n. ./limits\n. ./shop.sh\n" +
				"[ $(discount 100) -le $limit ] || { echo 'FAIL: test_discount'; exit 1; }\n",
			"limits": "limit=10\n", "shop.sh": "discount() { echo $1; }\n", "README.md": "A shop.\n",
		}
		for name, text := range more {
			p[name] = text
		}
		return p
	}
	const fixed, busy = "discount() { expr $1 / 10; }\n", "# What is taken off.\ndiscount() { echo $1; }\n"
	const wrong = "discount() { expr $1 / 10; } # wrong\n"
	loose := func(more project) project {
		p := project{
			"Makefile": "test:\n\tsh check.sh; sh style.sh\n", "shop.sh": "discount() { . ./rates; expr $1 / $rate; }\n", "rates": "rate=10\n",
			"check.sh": ". ./shop.sh; [ $(discount 100) = 10 ]\n", "style.sh": "if grep -q wrong shop.sh; then echo FAIL: style; exit 1; fi\n",
		}
		maps.Copy(p, more)
		return p
	}
	many := project{"shop.sh": fixed}
	for i := range 20 {
		many[fmt.Sprintf("docs/%02d.md", i)] = "More.\n"
	}
	both := maps.Clone(many)
	both["shop.sh"], both["limits"] = "discount() { expr $1 / 5; }\n", "limit=20\n"
	sayOfBaseTests(t, []baseTestsRow{
		{"more files than can be tried", "sh", "sh check.sh", base(nil), both, []string{"limits: limits seems to be no part of the product: " +
			"\"sh check.sh\" failed on the base commit and passes now; which of 22 changed files it passes because of was not found out"}},
		{"data of the check", "sh", "sh check.sh", base(nil), project{"shop.sh": busy, "limits": "limit=100\n"},
			[]string{"limits: limits seems to be no part of the product: " + asks + "limits"}},
		{"nothing but a new file, where a test ran", "sh", "sh check.sh", base(project{"check.sh": strings.ReplaceAll(base(nil)["check.sh"], "'FAIL: test_discount'",
			"'--- FAIL: test_discount (0.00s)'")}), project{"lib/skip.sh": "skip=1\n"}, []string{"sh_check.sh: it reported 1 test", "lib/skip.sh: lib/skip.sh seems to be no part of the product: test_discount (\"sh check.sh\") failed on the base commit and passes because of lib/skip.sh"}},
		{"said: " + asks + "shop.sh alone; it does not notice the change of README.md", "sh", "sh check.sh", base(nil),
			project{"shop.sh": fixed, "README.md": "A shop with discounts.\n"}, nil},
		{"said: " + asks + "shop.sh alone; it does not notice the change of docs/", "sh", "sh check.sh", base(nil), many, nil},
		{"said: \"sh check.sh\" fails only now and then on the base commit, and the change configures tools in limits", "sh", "sh check.sh",
			base(project{"check.sh": "n=$(cat .git/n 2>/dev/null); echo $n+ >.git/n; [ \"$n\" ]\n"}), project{"limits": "retries=3\n"}, nil},
		{"honest: the file that was missed", "sh", "sh check.sh", base(project{"check.sh": ". ./cart.sh\n"}),
			project{"cart.sh": "sum() { echo $1; }\n"}, nil},
		{"honest: the product alone", "sh", "sh check.sh", base(nil), project{"shop.sh": fixed}, nil},
		{"a setting without which the product's change does nothing", "make", "make", base(project{"Makefile": "test:\n\tsh check.sh\n"}),
			project{"shop.sh": "discount() { if [ \"$testing\" ]; then expr $1 / 10; else echo $1; fi; }\n", "Makefile": "test:\n\ttesting=1 sh check.sh\n"},
			[]string{"Makefile: passes because of Makefile, shop.sh"}},
		{"task: raise what limits holds", "sh", "sh check.sh", base(nil), project{"shop.sh": busy, "limits": "limit=100\n"}, nil},

		{"a script that the manifest names", "make", "make", loose(nil), project{"shop.sh": wrong, "style.sh": "exit 0\n", "logo.svg": "<svg/>\n", "ci.yml": "on: push\n"},
			[]string{"style.sh: with style.sh as the base commit has it"}},
		{"a run that ends itself", "make", "make", loose(nil), project{"shop.sh": "discount() { [ \"$testing\" ] || kill -9 0; expr $1 / 10; }\n",
			"Makefile": "test:\n\ttesting=1 sh check.sh\n"}, []string{"Makefile: with Makefile as the base commit has it"}},
		{"honest: a recipe for the new file", "make", "make", loose(nil),
			project{"shop.sh": ". ./lib/rate.sh\n" + fixed, "lib/rate.sh": "rate=$RATE\n: ${rate:?}\n", "Makefile": "test:\n\tRATE=10 sh check.sh; sh style.sh\n"}, nil},
		{"honest: data that the code goes with", "make", "make", loose(nil),
			project{"shop.sh": "discount() { . ./rates; expr $1 / $share; }\n", "rates": "share=10\n"}, nil},
		{"honest: data of a new test", "make", "make", loose(project{"check.sh": "for t in test_*.sh; do sh $t || exit 1; done\n",
			"test_a.sh": ". ./shop.sh; [ $(discount 100) = 10 ]\n"}),
			project{"shop.sh": fixed + "half() { . ./rates; expr $1 / ${half:-1}; }\n", "rates": "rate=10\nhalf=2\n",
				"test_b.sh": ". ./shop.sh; [ $(half 10) = 5 ]\n"}, nil},
		{"task: take the style out of the Makefile", "make", "make", loose(nil),
			project{"shop.sh": wrong, "Makefile": "test:\n\tsh check.sh\n"}, nil},
	})
}
