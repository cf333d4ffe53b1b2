package wire

// JSON-RPC error codes for refused messages.
const (
	CodeParse          = -32700 // not strict JSON
	CodeInvalidRequest = -32600 // not a JSON-RPC message
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
)

// A Fault is the reason why a client's message is refused. A message that [Parse] refuses must not
// be executed, not even in part.
type Fault struct {
	Code    int
	Message string
	Data    []byte // nil: none
	ID      []byte // request id as written; nil: unreadable

	// Silent means that the message was meant as a response, which must not be answered.
	Silent bool
}

// NewFault returns a fault without data and without ID; the caller knows the ID.
func NewFault(code int, message string) *Fault { return &Fault{Code: code, Message: message} }

func (f *Fault) Error() string { return f.Message }

// Append appends the JSON-RPC error that answers the message.
func (f *Fault) Append(dst []byte) []byte {
	return AppendError(dst, f.ID, f.Code, f.Message, f.Data)
}

func invalidParams(id []byte, message string) *Fault {
	return &Fault{Code: CodeInvalidParams, Message: "invalid params: " + message, ID: id}
}
