package transport

import (
	"time"
)

// KeepAlive is how long an idle connection is kept.
const KeepAlive = 90 * time.Second
