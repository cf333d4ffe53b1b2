package conn

import (
	"errors"
	"sync"
)

// LargeBody is the size from which a body is let go once nobody wants its answer.
const LargeBody = 64 << 10

var ErrBodyGone = errors.New("the request was cancelled before all of it was sent")

// A Body is what a request over HTTP carries. It is kept until there is an answer,
// since a server that has forgotten the session gets it once more; forget lets it
// go before that.
type Body struct {
	Mu   sync.Mutex
	Data []byte
	Gone bool
}

// Fill puts the bytes in, unless nobody wants their answer any more.
func (b *Body) Fill(data []byte) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	if !b.Gone {
		b.Data = data
	}
}

func (b *Body) Forget() {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	b.Data, b.Gone = nil, true
}
