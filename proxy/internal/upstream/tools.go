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

// Limits for a list. A server that exceeds a limit is broken or hostile.
const (
	maxTools     = 20_000
	maxListBytes = 64 << 20
)

// A ToolList contains the tools from all pages of a server's list, exactly as the server has sent
// them, and the other members of each page.
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
	var refused Refused
	switch {
	case errors.As(err, &refused) && len(l.Pages) == 0 && refused.noMethod():
		return ToolList{}, nil
	case err != nil:
		return ToolList{}, fmt.Errorf("listing tools: %w", err)
	}
	l.Tools = u.usable(l.Tools)
	return l, nil
}

// add adds a page to the list.
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

// usable leaves out the tools that require headers that are impossible. Revision 2026-07-28 demands
// this from clients over HTTP.
func (u *Upstream) usable(tools []json.RawMessage) []json.RawMessage {
	if u.host.Config.URL == "" || u.Rev() == rev.Rev2025 {
		return tools
	}
	return slices.DeleteFunc(tools, func(raw json.RawMessage) bool {
		schema, _ := rawjson.Member(raw, "inputSchema")
		err := mcp.ValidateParamHeaderAnnotations(&mcp.Tool{RawInputSchema: schema})
		if err != nil {
			name, _ := rawjson.Member(raw, "name")
			plain, _ := rawjson.String(name)
			u.host.Log.Warn("tool left out", "error", fmt.Errorf("tool %q: %s", text.Excerpt(plain, 64), text.Excerpt(err.Error(), 200)))
		}
		return err != nil
	})
}
