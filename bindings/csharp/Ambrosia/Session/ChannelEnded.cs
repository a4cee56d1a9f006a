namespace Ambrosia;

/// <summary>The app channel is gone while a handler was sending: it unwinds the handler, whose work the next process repeats.</summary>
internal sealed class ChannelEnded(string why) : Exception(why);
