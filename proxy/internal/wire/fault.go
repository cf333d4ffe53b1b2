package wire

// The codes of JSON-RPC for messages that are refused.
const (
	CodeParse          = -32700 // not strict JSON
	CodeInvalidRequest = -32600 // no JSON-RPC message
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
)

// A Fault says why a client's message is refused. Nothing of a message that
// [Parse] refuses may be executed.
type Fault struct {
	Code    int
	Message string
	Data    []byte // nil: none
	ID      []byte // of the request, as it was written; nil: it could not be read

	// Silent: the message was meant as a response. To answer it would be to
	// answer an answer.
	Silent bool
}

// NewFault returns a fault without data, of a message whose ID the caller knows.
func NewFault(code int, message string) *Fault { return &Fault{Code: code, Message: message} }

func (f *Fault) Error() string { return f.Message }

// Append appends the JSON-RPC error that answers the message.
func (f *Fault) Append(dst []byte) []byte {
	return AppendError(dst, f.ID, f.Code, f.Message, f.Data)
}

func invalidParams(id []byte, message string) *Fault {
	return &Fault{Code: CodeInvalidParams, Message: "invalid params: " + message, ID: id}
}
