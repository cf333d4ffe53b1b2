package toolnet_test

import (
	"testing"

	"github.com/petrigate/petrigate/gate/toolnet"
)

func TestDoubt(t *testing.T) {
	d := toolnet.Doubt{What: "a word", Code: "$X y", Advice: "write it"}
	if got := d.String() + ". " + d.Way(); got != "a word in `$X y`. Write it." {
		t.Error(got)
	}
	if d := (toolnet.Doubt{What: "a word"}); d.String()+d.Way() != "a word" {
		t.Error(d, d.Way())
	}
}
