package cel

import "testing"

func TestWithin(t *testing.T) {
	const ws = "/workspace"
	tests := []struct {
		path, dir string
		want      place
	}{
		{"/workspace/a", ws, inside},
		{"/workspace", ws, inside},
		{"/workspace/", ws, inside},
		{"/workspace/a/../b", ws, inside},
		{"/workspace//a/./b", "/workspace/", inside},
		{"/workspace/..", ws, outside},
		{"/workspace/../etc/passwd", ws, outside},
		{"/workspace/a/../../etc/passwd", ws, outside},
		{"/workspace/./../etc/passwd", ws, outside},
		{"/workspacex/a", ws, outside},
		{"/work", ws, outside},
		{"workspace/a", ws, unknown},
		{"../workspace/a", ws, unknown},
		{"", ws, unknown},
		{"/workspace/a", "", unknown},
		{"/workspace/a\x00/../../etc", ws, unknown},
		{`/workspace/..\..\etc\passwd`, ws, unknown},
		{`/workspace\..\..\etc`, ws, outside},
		{`/workspace/a\b`, ws, inside},
		{"/workspace/.. /etc", ws, unknown},
		{"/workspace/.../etc", ws, unknown},
		{"/workspace/..a/b", ws, inside},
		{"//workspace/a", ws, unknown},
		{"~/a", ".", unknown},
		{"~root/a", ".", unknown},
		{"a/b", ".", inside},
		{"a/../..", ".", outside},
		{"..", ".", outside},
		{"src/a", "src", inside},
		{"src/../a", "src", outside},
		{"../a", "..", inside},
		{"../../a", "..", unknown},
		{"/etc", "/", inside},
		{"etc", "/", unknown},
		{`C:\work\a`, `C:\work`, inside},
		{`c:\work\a`, `C:/work`, inside},
		{`C:\work\..\Windows`, `C:\work`, outside},
		{`D:\work\a`, `C:\work`, outside},
		{`C:evil`, ".", unknown},
		{`\\server\share\a`, "/server", unknown},
		{"~/.ssh/x", "/home/u/.ssh", unknown},
		{"../.ssh/x", "/home/u/.ssh", unknown},
		{"/home/u/a", "~/.ssh", unknown},
		{"//home/u/x", ws, outside},
		{`C:\work\a`, "/work", unknown},
		{`\home\a`, ws, unknown},
		{`/etc\passwd`, ws, outside},
		{`/etc/passwd`, `\workspace`, outside},
		{`C:/work/a`, `C:\work`, inside},
		{"a", "..", inside},
		{"../a", "../..", inside},
		{"a", "../b", unknown},
		{"../b/src/a", "src", unknown},
		{"../..", "src", outside},
		{"srcx", "src", outside},
		{".", ".", inside},
		{".", "src", outside},
	}
	for _, test := range tests {
		if got := within(test.path, test.dir); got != test.want {
			t.Errorf("within(%q, %q) = %v", test.path, test.dir, got)
		}
	}
}
