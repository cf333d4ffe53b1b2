package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// maxListPages is the maximum number of pages in a list. A server that sends more is broken or
// hostile.
const maxListPages = 1000

// Call sends a request and waits for the reply. It cancels the request when ctx is done.
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

// A Refused error contains the error object of a server's JSON-RPC response, unchanged.
type Refused []byte

func (e Refused) Error() string {
	return "the server refused: " + text.Excerpt(rawjson.StringAt(e, "message"), 200)
}

// Pages sends list requests (tools/list, prompts/list, and so on) until a result has no nextCursor,
// and passes each result to the add function. If add returns an error, Pages stops.
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

// listParams returns the params of a list request for one page. cursor is a JSON string, or nil for
// the first page.
func (u *Upstream) listParams(cursor []byte) []byte {
	var params rawjson.Object
	if meta := u.RequestMeta(nil); meta != nil {
		params = params.Raw("_meta", slices.Concat([]byte{'{'}, meta, []byte{'}'}))
	}
	if cursor != nil {
		params = params.Raw("cursor", cursor)
	}
	return params.Bytes()
}

// Limits on a list. A server that exceeds any of them is broken or hostile.
const (
	maxTools     = 20_000
	maxListBytes = 64 << 20
)

// A ToolList holds the tools on all pages of a server's list, exactly as sent. It also holds the
// other members of each page.
type ToolList struct {
	Tools []json.RawMessage
	Pages []json.RawMessage
}

// ListTools returns the server's tools. If the server does not support tools/list, the list is
// empty.
func (u *Upstream) ListTools(ctx context.Context) (ToolList, error) {
	var l ToolList
	size := 0
	err := u.Pages(ctx, "tools/list", func(page []byte) error {
		if size += len(page); size > maxListBytes {
			return fmt.Errorf("more than %d bytes", maxListBytes)
		}
		return l.add(page)
	})
	refused, _ := errors.AsType[Refused](err)
	switch code, _ := rawjson.Member(refused, "code"); {
	case string(code) == "-32601" && len(l.Pages) == 0: // the server does not know the method
		return ToolList{}, nil
	case err != nil:
		return ToolList{}, fmt.Errorf("listing tools: %w", err)
	}
	l.Tools = u.withoutInvalid(l.Tools)
	return l, nil
}

// add adds the tools and the other members of one page to the list.
func (l *ToolList) add(page []byte) error {
	array, ok := rawjson.Member(page, "tools")
	whole := ok && rawjson.Elements(array, func(tool []byte, _ int) bool {
		l.Tools = append(l.Tools, tool)
		return len(l.Tools) <= maxTools
	})
	switch {
	case len(l.Tools) > maxTools:
		return fmt.Errorf("more than %d tools", maxTools)
	case !whole:
		return errors.New("the answer has no array of tools")
	}
	l.Pages = append(l.Pages, wire.AppendWithout(nil, page, "tools"))
	return nil
}

// withoutInvalid removes tools with invalid x-mcp-header annotations, as revision 2026-07-28
// requires of clients over HTTP.
func (u *Upstream) withoutInvalid(tools []json.RawMessage) []json.RawMessage {
	if u.host.Config.URL == "" || u.Rev() == rev.Rev2025 {
		return tools
	}
	return slices.DeleteFunc(tools, func(raw json.RawMessage) bool {
		schema, _ := rawjson.Member(raw, "inputSchema")
		err := mcp.ValidateParamHeaderAnnotations(&mcp.Tool{RawInputSchema: schema})
		if err != nil {
			name := text.Excerpt(rawjson.StringAt(raw, "name"), 64)
			u.host.Log.Warn("tool left out", "error", fmt.Errorf("tool %q: %s", name, text.Excerpt(err.Error(), 200)))
		}
		return err != nil
	})
}
