package verify_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/verify"
	"github.com/petrigate/petrigate/rules"
)

func TestSmoke(t *testing.T) {
	for _, src := range []string{
		"require backup before delete\n",
		"require a before b\nrequire b before a\n",
		"limit test to 1 per deploy\nrequire test before deploy\n",
		"limit push to 1000000 per session\n",
		"limit x to 5 per session\nlimit x to 3 per session\n",
		"block x\nrequire a before x\n",
		"map bash.command rm as delete\nmap bash.command cp as backup\nrequire backup before delete\nlimit bash to 50 per session\n",
		"require human-approval before *\nlimit * to 100 per session\nrequire lint before deploy\nrequire test before deploy\nrequire build before test\nblock *.delete\n",
	} {
		f, _ := rules.Parse("p.rules", []byte(src))
		c, err := rules.Compile(f)
		if err != nil {
			t.Fatal(err)
		}
		p, err := gate.NewPolicy(c.Nets, gate.PolicyOptions{Maps: c.Maps})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		r := verify.Policy(p, verify.Options{Maps: c.Maps})
		fmt.Printf("--- %s%v states %d visited %d gaps %v\n", src, time.Since(start), r.States, r.Visited, r.Gaps)
		for _, n := range r.Names {
			fmt.Println(n.Tool.Name, n.Callable, n.Shortest.Calls(), n.Failing, n.Because, n.Why)
		}
		for _, g := range r.Groups {
			fmt.Printf("%+v\n", g)
		}
		fmt.Println("redundant", r.Redundant, r.Overlaps)
	}
}
