package session

import "encoding/json"

// An About describes a session to other replicas.
type About struct {
	By    string `json:"by"`
	Label string `json:"name,omitempty"`

	// The fields below are only for HTTP sessions with a handshake.
	Client       string          `json:"client,omitempty"` // SHA-256 of the client's Mcp-Session-Id
	State        string          `json:"state,omitempty"`  // label of the session whose nets decide the calls
	Protocol     string          `json:"protocol,omitempty"`
	Name         string          `json:"clientName,omitempty"`
	Version      string          `json:"clientVersion,omitempty"`
	Elicit       bool            `json:"elicit,omitempty"`
	Capabilities json.RawMessage `json:"capabilities,omitempty"`
}

// ReadAbout decodes an About. If data is not an About, it returns the zero value.
func ReadAbout(data []byte) (a About) {
	if json.Unmarshal(data, &a) != nil {
		return About{}
	}
	return a
}

func (a About) bytes() []byte {
	data, err := json.Marshal(a)
	if err != nil {
		return nil // never happens, because the capabilities are known to be valid JSON
	}
	return data
}
