package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"strings"
)

// slack is a client for Slack's API. It posts to a single channel as a bot.
type slack struct {
	api, token, channel string
	client              *http.Client
}

// maxShown is the maximum length of the question in a message, in bytes. Because a hint is added to
// a truncated question, the maximum is lower than Slack's limit of 3000 characters for a block.
const maxShown = 2900

// post shows a question with its buttons and returns the timestamp of the message.
func (s *slack) post(m message) (string, error) {
	shown, buttons := m.Question, []any{button("approve", "primary", m.ID), button("deny", "danger", m.ID)}
	if len(shown) > maxShown || m.ArgumentsLeftOut { // the message cannot show the whole question, so link to the approval page instead of offering to approve
		shown = strings.ToValidUTF8(shown[:min(len(shown), maxShown)], "") + "\n\nThis is not all of it."
		buttons[0] = map[string]any{"type": "button", "action_id": "look", "text": plain("Look and approve"), "url": m.Approve}
	}
	return s.do("chat.postMessage", map[string]any{
		"channel": s.channel, "text": escape("Allow " + m.Tool + " on " + m.Upstream + "? " + m.ID),
		"blocks": []any{
			map[string]any{"type": "section", "text": plain(shown)},
			map[string]any{"type": "actions", "elements": buttons},
		},
	})
}

// end replaces a question and its buttons with the result.
func (s *slack) end(posted string, m message) error {
	text := m.Tool + " on " + m.Upstream + ": " + m.ID + " is " + m.State
	if m.Actor != "" {
		text += ", by " + m.Actor
	}
	_, err := s.do("chat.update", map[string]any{
		"channel": s.channel, "ts": posted, "text": escape(text),
		"blocks": []any{map[string]any{"type": "section", "text": plain(text)}},
	})
	return err
}

// tell sends a message visible only to one user.
func (s *slack) tell(user, text string) {
	if _, err := s.do("chat.postEphemeral", map[string]any{"channel": s.channel, "user": user, "text": escape(text)}); err != nil {
		log.Print(err)
	}
}

// plain returns a text object without Slack markup.
func plain(text string) map[string]any {
	return map[string]any{"type": "plain_text", "text": text, "emoji": false}
}

// escape escapes text for Slack markup.
func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

func button(decision, style, id string) map[string]any {
	label := strings.ToUpper(decision[:1]) + decision[1:]
	return map[string]any{"type": "button", "action_id": decision, "style": style, "value": id, "text": plain(label)}
}

// do calls a method of Slack's API.
func (s *slack) do(method string, args map[string]any) (timestamp string, err error) {
	body, err := json.Marshal(args)
	if err != nil {
		return "", err
	}
	r, err := http.NewRequest(http.MethodPost, s.api+method, bytes.NewReader(body))
	if err != nil {
		return "", fmt.Errorf("%s: %w", method, err)
	}
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	r.Header.Set("Authorization", "Bearer "+s.token)
	response, err := s.client.Do(r)
	if err != nil {
		return "", fmt.Errorf("%s: %w", method, err)
	}
	defer func() { _ = response.Body.Close() }()
	var said struct {
		OK    bool
		Error string
		TS    string
	}
	if err := json.NewDecoder(response.Body).Decode(&said); err != nil || !said.OK {
		return "", fmt.Errorf("%s: Slack responded %s %s", method, response.Status, said.Error)
	}
	return said.TS, nil
}
