package door

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// A Visitor is who the door has let in, for one request.
type Visitor struct {
	Principal string

	until time.Time // when streams of news end; zero: never
	door  *Door
}

// Leave ends the visit, once.
func (v Visitor) Leave() { v.door.crowd.leave(v.Principal) }

// Stream is the lifetime of a stream that the visitor holds open: a token that
// has expired opens none, and keeps none open.
func (v Visitor) Stream(ctx context.Context) (context.Context, context.CancelFunc) {
	if v.until.IsZero() {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, v.until.Sub(v.door.now()))
}

// Body reads the whole message, within the limits, or answers why not. Call
// release when it is not needed any more.
func (v Visitor) Body(w http.ResponseWriter, r *http.Request) (body []byte, release func(), ok bool) {
	limit := int64(v.door.maxMessage)
	refuse := func(text string, status int) ([]byte, func(), bool) {
		w.Header()["Connection"] = closing // or net/http would wait for the rest of it
		http.Error(w, text, status)
		return nil, nil, false
	}
	const tooLarge = "the message is larger than this proxy takes"
	if r.ContentLength > limit {
		return refuse(tooLarge, http.StatusRequestEntityTooLarge)
	}
	reader := http.MaxBytesReader(w, r.Body, limit)
	release = func() {}
	var err error
	if r.ContentLength >= 0 && r.ContentLength <= light {
		body = make([]byte, r.ContentLength)
		_, err = io.ReadFull(reader, body)
	} else {
		body, release, err = v.door.load.read(reader, v.Principal)
	}
	var over *http.MaxBytesError
	switch {
	case err == nil:
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // a person may take longer
		return body, release, true
	case errors.As(err, &over):
		return refuse(tooLarge, http.StatusRequestEntityTooLarge)
	case errors.Is(err, errHeavy):
		w.Header().Set("Retry-After", "1")
		return refuse(err.Error(), http.StatusServiceUnavailable)
	default:
		return refuse("the body ended early", http.StatusBadRequest)
	}
}
