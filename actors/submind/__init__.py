"""The submind: topics, connections, binding and crawling around one goal."""
