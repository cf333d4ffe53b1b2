package toolnet_test

import (
	"fmt"
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

func ExampleDoubt_Way() {
	d := toolnet.Doubt{What: "a command word that is not literal", Code: "$X y", Advice: "write the name of the program itself"}
	fmt.Println(d.String() + ". " + d.Way())
	// Output: a command word that is not literal in `$X y`. Write the name of the program itself.
}
