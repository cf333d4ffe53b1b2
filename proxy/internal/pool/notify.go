package pool

import (
	"time"
)

// AnnounceEvery is the time between two announcements of one list, and between
// two listings of tools: a flood of them becomes few.
const AnnounceEvery = 50 * time.Millisecond
