package spec

import (
	"encoding/json"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/proxy/internal/wire"
)

var ErrCancelled = errors.New("cancelled by the client")

var ErrGone = errors.New("the client is gone")

var ErrClosing = errors.New("the proxy ends")

// A Withdrawal is [errCancelled] with the reason that the client gave in
// notifications/cancelled, for the server to know.
type CancelReason string

func (w CancelReason) Error() string        { return string(w) }
func (w CancelReason) Is(target error) bool { return target == ErrCancelled }

// JSON-RPC codes that this proxy answers by itself.
const (
	CodeInvalidRequest = -32600
	CodeNoMethod       = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
)

// CodeHeaderMismatch is of revision 2026-07-28.
const CodeHeaderMismatch = -32020

// CodeMissingCapability is of revision 2026-07-28.
const CodeMissingCapability = -32021

// RefusedRequest is the answer to a request that is barred.
func RefusedRequest(id []byte, why string) []byte {
	return wire.AppendError(nil, id, CodeInvalidRequest, why, nil)
}

// UnsupportedVersion is the answer of 2026-07-28 to a version that is not spoken.
func UnsupportedVersion(id []byte, version string) []byte {
	e := mcp.UnsupportedProtocolVersionError{Version: version, Supported: mcp.ValidProtocolVersions}.JSONRPCError()
	return errorReply(id, e.Error)
}

// errorReply writes an error of mcp-go under the id of the client.
func errorReply(id []byte, e any) []byte {
	body, err := json.Marshal(e)
	if err != nil {
		return wire.AppendError(nil, id, CodeInternal, "no answer could be made", nil)
	}
	return append(append(wire.ErrorHead(id), body...), wire.Tail...)
}
