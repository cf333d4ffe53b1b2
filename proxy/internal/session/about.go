package session

import "encoding/json"

// An About is the description of a session that is stored for other replicas.
type About struct {
	By    string `json:"by"`
	Label string `json:"name,omitempty"`

	// Only for an HTTP session with a handshake.
	Client       string          `json:"client,omitempty"` // SHA-256 of the client's Mcp-Session-Id
	State        string          `json:"state,omitempty"`  // label of the session whose nets decide on the calls
	Protocol     string          `json:"protocol,omitempty"`
	Name         string          `json:"clientName,omitempty"`
	Version      string          `json:"clientVersion,omitempty"`
	Elicit       bool            `json:"elicit,omitempty"`
	Capabilities json.RawMessage `json:"capabilities,omitempty"`
}

// ReadAbout decodes an About. It returns the zero value if data is not one.
func ReadAbout(data []byte) (a About) {
	if json.Unmarshal(data, &a) != nil {
		return About{}
	}
	return a
}

func (a About) bytes() []byte {
	data, err := json.Marshal(a)
	if err != nil {
		return nil // not reached: capabilities were checked to be JSON
	}
	return data
}
