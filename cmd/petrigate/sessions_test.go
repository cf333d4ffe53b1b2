package main

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/operator"
)

// TestListedCallCountsMore checks that if a listed call stands for further calls with unknown
// outcomes, all of them are counted.
func TestListedCallCountsMore(t *testing.T) {
	o := operator.SessionInfo{ID: "s1", Calls: []operator.CallInfo{{Number: 3, Tool: "edit", Unknown: true, More: 12}, {Number: 40, Tool: "edit"}}}
	if got := openCalls(o); got != "14, 13 unknown" {
		t.Errorf("%q", got)
	}
	var b strings.Builder
	printSession(&b, o)
	if want := "; its outcome and that of 12 more are unknown (petrigate sessions settle s1 3 --success, or --failure)\n"; !strings.Contains(b.String(), want) {
		t.Errorf("%s", b.String())
	}
}
