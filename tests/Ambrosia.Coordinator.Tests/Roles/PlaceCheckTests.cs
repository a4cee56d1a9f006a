using Ambrosia.Log;
using Ambrosia.Protocol;
using CRA;

namespace Ambrosia.Coordinator.Tests;

public sealed class PlaceCheckTests
{
    private static readonly InstanceIdentity identity = new("self", 0, Guid.Parse("11111111-2222-3333-4444-555555555555"), 1);

    private static CatalogEntry Entry(string path = "/data/self", ulong epoch = 3) =>
        new(new InstanceId("self"), identity.Uuid, path, new Epoch(epoch), []);

    [Fact]
    public void WhatIsWrong_NothingKnownOrTheSame_Nothing()
    {
        Assert.Null(PlaceCheck.WhatIsWrong(identity, "/data/self", new Epoch(3), null, static _ => true));
        Assert.Null(PlaceCheck.WhatIsWrong(identity, "/data/self", new Epoch(3), Entry(), static _ => true));
        Assert.Null(PlaceCheck.WhatIsWrong(identity, "/data/self", new Epoch(4), Entry(), static _ => true));
    }

    [Fact]
    public void WhatIsWrong_MovedAway_Nothing() =>
        Assert.Null(PlaceCheck.WhatIsWrong(identity, "/data/new", new Epoch(3), Entry(), static _ => false));

    [Fact]
    public void WhatIsWrong_BothThere_Copy() =>
        Assert.Contains("is a copy of the log",
            PlaceCheck.WhatIsWrong(identity, "/data/copy", new Epoch(9), Entry(), static path => path == "/data/self"));

    [Fact]
    public void WhatIsWrong_CatalogSawLaterEpoch_OlderCopy() =>
        Assert.Contains("older copy", PlaceCheck.WhatIsWrong(identity, "/data/self", new Epoch(2), Entry(), static _ => true));
}
