package session

import "encoding/json"

// An About is a session's description for other replicas.
type About struct {
	By    string `json:"by"`
	Label string `json:"name,omitempty"`

	// For HTTP sessions with a handshake only.
	Client       string          `json:"client,omitempty"` // SHA-256 of the client's Mcp-Session-Id
	State        string          `json:"state,omitempty"`  // label of the session whose nets decide on the calls
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
		return nil // never happens, because capabilities were checked to be JSON
	}
	return data
}
