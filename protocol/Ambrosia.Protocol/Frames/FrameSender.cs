namespace Ambrosia.Protocol;

/// <summary>The four ends that send frames: two of an app channel, two of a link.</summary>
public enum FrameSender { App, Coordinator, Dialler, Acceptor }
