package audit_test

import (
	"encoding/hex"
	"fmt"

	"github.com/petrigate/petrigate/internal/runtime/audit"
)

func ExampleLink() {
	first := audit.Link([32]byte{}, 1, []byte(`{"event":"start"}`))
	second := audit.Link(first, 2, []byte(`{"event":"end"}`))
	fmt.Println(hex.EncodeToString(first[:8]), hex.EncodeToString(second[:8]))
	// Output: c98cd5998ff57e73 cddc83032974a0ec
}
