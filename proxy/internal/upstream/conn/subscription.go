package conn

import (
	"strconv"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// Poke puts a value into a channel that has room for one.
func Poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// acknowledged is the id of the subscription that the server says it has begun;
// 0: it does not say of which.
func acknowledged(params []byte) int64 {
	meta, _ := rawjson.Member(params, "_meta")
	id, _ := rawjson.Member(meta, "io.modelcontextprotocol/subscriptionId")
	n, err := strconv.ParseInt(string(id), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// HeardFrom is called when the server's messages begin to be heard.
func (u *Host) HeardFrom() {
	if u.Options.OnListen != nil {
		u.Options.OnListen()
	}
}

// MaxDeaf is how often in a row the stream may not be had before the server
// counts as lost.
const MaxDeaf = 3
