package journal

import "time"

// Limits of what the checkpoint may lack.
const (
	foldAfter  = time.Second
	foldBytes  = 8 << 20     // size of lines that are folded without delay
	foldRetry  = time.Second // delay after a failure
	maxBacklog = 64 << 20    // size of unfolded lines above which nothing is reserved
	maxSegment = 16 << 20    // size above which the next segment is begun
)
