package toolnet_test

import (
	"fmt"
	"testing"

	"github.com/petrigate/petrigate/gate/toolnet"
)

func TestOutcome(t *testing.T) {
	if got := fmt.Sprint(toolnet.Unknown, toolnet.Success, toolnet.Failure, toolnet.Failure+1); got != "unknown success failure outcome 3" {
		t.Error(got)
	}
}
