package upstream

import (
	"context"
	"errors"
	"fmt"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
)

// maxListPages is the maximum number of pages in a list. A server that sends more is broken or
// hostile.
const maxListPages = 1000

// Call sends a request and waits for the reply. If ctx ends first, it cancels the request.
func (u *Upstream) Call(ctx context.Context, r Request) (Reply, error) {
	x := u.Send(r)
	select {
	case reply := <-x.Done():
		return reply, reply.Err
	case <-ctx.Done():
		x.Cancel("timeout")
		return Reply{}, ctx.Err()
	}
}

// A Refused is the error object from a server's JSON-RPC response, unchanged.
type Refused []byte

func (e Refused) Error() string {
	lit, _ := rawjson.Member(e, "message")
	message, _ := rawjson.String(lit)
	return "the server refused: " + text.Excerpt(message, 200)
}

// noMethod reports whether the server does not know the requested method.
func (e Refused) noMethod() bool {
	code, _ := rawjson.Member(e, "code")
	return string(code) == "-32601"
}

// Pages sends list requests (tools/list, prompts/list, and so on) until a result contains no
// nextCursor. It passes each result to the function add. If add returns an error, Pages stops.
func (u *Upstream) Pages(ctx context.Context, method string, add func(page []byte) error) error {
	var cursor []byte
	seen := map[string]bool{}
	for range maxListPages {
		reply, err := u.Call(ctx, Request{Method: method, Params: u.listParams(cursor)})
		switch {
		case err != nil:
			return err
		case reply.Error != nil:
			return Refused(reply.Error)
		}
		if err := add(reply.Result); err != nil {
			return err
		}
		switch cursor, _ = rawjson.Member(reply.Result, "nextCursor"); {
		case cursor == nil, string(cursor) == "null", string(cursor) == `""`:
			return nil
		case rawjson.Kind(cursor) != '"':
			return errors.New("the answer's cursor is not a string")
		case seen[string(cursor)]:
			return errors.New("the server sent the same cursor twice")
		}
		seen[string(cursor)] = true
	}
	return fmt.Errorf("more than %d pages", maxListPages)
}

// listParams returns the params of a request for the page at cursor, which is a JSON string or nil.
func (u *Upstream) listParams(cursor []byte) []byte {
	b := []byte(`{`)
	if meta := u.RequestMeta(nil); meta != nil {
		b = append(append(append(b, `"_meta":{`...), meta...), '}')
		if cursor != nil {
			b = append(b, ',')
		}
	}
	if cursor != nil {
		b = append(append(b, `"cursor":`...), cursor...)
	}
	return append(b, '}')
}
