using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.State;

namespace Ambrosia;

/// <summary>
/// Object 0 of an image holds the immortal and what its session must know to go on. Fields are named in the image, so new ones can be
/// added, and none can be renamed.
/// </summary>
internal sealed class ImageRoot : IImagePart
{
    internal Immortal? Immortal;
    internal InstanceId[] Origins = [];

    /// <summary>The counter of the next call id, and the calls below it that have no result yet, in order.</summary>
    internal ulong NextCall;
    internal IPendingCall[] Outstanding = [];

    /// <summary>
    /// The number of suspended methods as counted, not as found: one that nothing can resume any more is in no image, but still counts
    /// everywhere.
    /// </summary>
    internal int FramesSuspended;
    internal int AnswersOwed;

    /// <summary>The time of the record that was executed last, in µs since 1970.</summary>
    internal long NowUs;

    /// <summary>The time by which answers to keyed calls grow old, in µs.</summary>
    internal long KeyTimeUs;
    internal ReplayedRandom? Random;

    /// <summary>The answers to keyed calls, oldest first, then those under way.</summary>
    internal OutsideCall[] KeyedCalls = [];
    internal WindowLimits Window;

    /// <summary>The numbers of the next timer and the next task, and those below that wait, in order.</summary>
    internal ulong NextTimer;
    internal WaitingTimer[] Timers = [];
    internal ulong NextTask;
    internal IPendingTask[] Tasks = [];

    /// <summary>
    /// The policy in force; messages that were set aside, in the order of the log; how many decisions about them there were, and
    /// how many were met in it.
    /// </summary>
    internal ForkPolicy ForkPolicy;
    internal SetAsideMessage[] SetAside = [];
    internal ulong Decisions, DecisionsMet;
}
