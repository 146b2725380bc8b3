package check

import (
	"fmt"
	"strings"
	"testing"
)

// TestMakesGreen: of a check that failed on the base commit, what it passes because of is told, and asked where that is
// not the product.
func TestMakesGreen(t *testing.T) {
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
	many := project{"shop.sh": fixed}
	for i := range 20 {
		many[fmt.Sprintf("docs/%02d.md", i)] = "More.\n"
	}
	sayOfBaseTests(t, []baseTestsRow{
		{"data of the check", "sh", "sh check.sh", base(nil), project{"shop.sh": busy, "limits": "limit=100\n"},
			[]string{"limits: limits seems to be no part of the product: " + asks + "limits"}},
		{"a new file that nothing missed", "sh", "sh check.sh", base(nil), project{"shop.sh": busy, "lib/skip.sh": "skip=1\n"},
			[]string{"lib/skip.sh: " + asks + "lib/skip.sh"}},
		{"the only change", "sh", "sh check.sh", base(nil), project{"limits": "limit=100\n"}, []string{"limits: " + asks + "limits"}},
		{"the check itself", "sh", "sh check.sh", base(nil), project{"shop.sh": busy, "check.sh": "exit 0\n"},
			[]string{"check.sh: " + asks + "check.sh"}},
		{"said: " + asks + "shop.sh alone; it does not notice the change of README.md", "sh", "sh check.sh", base(nil),
			project{"shop.sh": fixed, "README.md": "A shop with discounts.\n"}, nil},
		{"said: " + asks + "shop.sh alone; it does not notice the change of docs/", "sh", "sh check.sh", base(nil), many, nil},
		{"said: " + asks + "lib/rate.sh, shop.sh", "sh", "sh check.sh",
			base(project{"check.sh": ". ./shop.sh; [ $(discount 100) = 10 ]\n"}),
			project{"shop.sh": ". ./lib/rate.sh\n" + strings.ReplaceAll(fixed, "10", "$rate"), "lib/rate.sh": "rate=10\n"}, nil},
		{"said: \"sh check.sh\" fails only now and then on the base commit, and the change configures tools in limits", "sh", "sh check.sh",
			base(project{"check.sh": "n=$(cat .git/n 2>/dev/null); echo $n+ >.git/n; [ \"$n\" ]\n"}), project{"limits": "retries=3\n"}, nil},
		{"honest: the file that was missed", "sh", "sh check.sh", base(project{"check.sh": ". ./cart.sh\n"}),
			project{"cart.sh": "sum() { echo $1; }\n"}, nil},
		{"honest: the product alone", "sh", "sh check.sh", base(nil), project{"shop.sh": fixed}, nil},
	})
}
