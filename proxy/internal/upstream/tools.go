package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Bounds of a list: a server that exceeds them is broken or hostile.
const (
	maxPages     = 1000
	maxTools     = 20_000
	maxListBytes = 64 << 20
)

// A ToolList is the tools of a server, byte for byte as it sent them, from all
// pages, and each page without its tools.
type ToolList struct {
	Tools []json.RawMessage
	Pages []json.RawMessage
}

// ListTools returns the tools of the server. A server without tools has none.
func (u *Upstream) ListTools(ctx context.Context) (ToolList, error) {
	none := ToolList{}
	var l gathering
	cursor := []byte(nil)
	seen := map[string]bool{}
	for page := 0; page < maxPages; page++ {
		reply, err := u.call(ctx, conn.Request{Method: "tools/list", Params: u.ListParams(cursor)})
		switch {
		case err != nil:
			return none, fmt.Errorf("listing tools: %w", err)
		case reply.Error != nil && page == 0 && conn.IsMethodNotFound(reply.Error):
			return none, nil
		case reply.Error != nil:
			return none, fmt.Errorf("listing tools: the server refused: %s", text.Excerpt(conn.ErrorMessage(reply.Error), 200))
		}
		if cursor, err = l.add(reply.Result); err != nil {
			return none, fmt.Errorf("listing tools: %w", err)
		}
		if cursor == nil {
			return ToolList{Tools: u.usable(l.tools), Pages: l.pages}, nil
		}
		if seen[string(cursor)] {
			return none, errors.New("listing tools: the server gave the same cursor twice")
		}
		seen[string(cursor)] = true
	}
	return none, fmt.Errorf("listing tools: more than %d pages", maxPages)
}

// call sends r and waits for the reply.
func (u *Upstream) call(ctx context.Context, r conn.Request) (conn.Reply, error) {
	x := u.Send(r)
	select {
	case reply := <-x.Done():
		return reply, reply.Err
	case <-ctx.Done():
		x.Cancel("timeout")
		return conn.Reply{}, ctx.Err()
	}
}

// ListParams are the params that ask for the page at cursor, a JSON string or nil.
func (u *Upstream) ListParams(cursor []byte) []byte {
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

// gathering is the pages of a list so far.
type gathering struct {
	tools []json.RawMessage
	pages []json.RawMessage
	bytes int
}

// add takes a page and returns the cursor of the next, or nil.
func (l *gathering) add(page []byte) (cursor []byte, err error) {
	if l.bytes += len(page); l.bytes > maxListBytes {
		return nil, fmt.Errorf("more than %d bytes", maxListBytes)
	}
	array, ok := rawjson.Member(page, "tools")
	whole := ok && rawjson.Elements(array, func(tool []byte, _ int) bool {
		l.tools = append(l.tools, tool)
		return len(l.tools) <= maxTools
	})
	switch {
	case len(l.tools) > maxTools:
		return nil, fmt.Errorf("more than %d tools", maxTools)
	case !whole:
		return nil, errors.New("the answer has no array of tools")
	}
	l.pages = append(l.pages, wire.AppendWithout(nil, page, "tools"))
	cursor, _ = rawjson.Member(page, "nextCursor")
	if string(cursor) == "null" || string(cursor) == `""` || cursor == nil {
		return nil, nil
	}
	if rawjson.Kind(cursor) != '"' {
		return nil, errors.New("the answer's cursor is not a string")
	}
	return cursor, nil
}

// usable remembers which tools want headers, and leaves out those that ask
// for impossible ones, as a modern client over HTTP has to.
func (u *Upstream) usable(tools []json.RawMessage) []json.RawMessage {
	if u.host.Config.URL == "" || u.State().Era != conn.Modern {
		return tools
	}
	marked := map[string]*mcp.Tool{}
	good := tools[:0]
	for _, raw := range tools {
		tool, err := markedTool(raw)
		if err != nil {
			u.host.Log.Warn("tool left out", "error", err)
			continue
		}
		if tool != nil {
			marked[tool.Name] = tool
		}
		good = append(good, raw)
	}
	u.host.Headers.Tools.Store(&marked)
	return good
}

// markedTool decodes a tool that has marked parameters; nil for any other.
func markedTool(raw []byte) (*mcp.Tool, error) {
	var tool mcp.Tool
	var wire struct {
		Name        string          `json:"name"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	if json.Unmarshal(raw, &wire) != nil {
		return nil, nil // not for us to judge
	}
	tool.Name, tool.RawInputSchema = wire.Name, wire.InputSchema
	if err := mcp.ValidateParamHeaderAnnotations(&tool); err != nil {
		return nil, fmt.Errorf("tool %q: %s", text.Excerpt(wire.Name, 64), text.Excerpt(err.Error(), 200))
	}
	if len(mcp.ExtractParamHeaderBindings(&tool)) == 0 {
		return nil, nil
	}
	return &tool, nil
}
