package conn

import (
	"time"
)

const (
	FirstPause = 250 * time.Millisecond
	LastPause  = 30 * time.Second
	StableAge  = 30 * time.Second // a connection that lived so long was a good one
)
