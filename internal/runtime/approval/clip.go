package approval

import (
	"fmt"
	"strings"
	"time"
)

// clip shortens s to n bytes and appends its original length.
func clip(s string, n int) string {
	if len(s) <= n {
		return strings.Clone(s)
	}
	return strings.ToValidUTF8(s[:n], "") + fmt.Sprintf("... (%d bytes)", len(s))
}

const (
	maxKept   = 1 << 10 // bytes of a call that are kept after its request has ended
	maxReason = 1 << 10 // bytes of the reason for an answer

	recently = time.Minute // period of limit.recent
)
