using System.Net;
using System.Net.Sockets;
using Ambrosia.TestKit;
using CRA.Links;

namespace CRA.Tests;

/// <summary>What dialling and accepting do in a process that has no descriptors left.</summary>
[Collection(AloneCollection.Name)]
public sealed class NoDescriptorsTests
{
    [Fact]
    public void Dial_WithNoDescriptorsLeft_IsUnreachable()
    {
        using var links = new LoopbackLinks();
        Assert.Null(Dialled(links.Address)); // all that it needs is loaded now
        Exception? failure;
        using (new NoDescriptors()) failure = Dialled(links.Address);
        Assert.IsType<LinkUnreachableException>(failure);
        Assert.Contains(links.Address, failure.Message, StringComparison.Ordinal);
    }

    /// <summary>However long it lasts and however often it is tried, two lines tell of it: one at its beginning, one at its end.</summary>
    [Fact]
    public void Accept_WithNoDescriptorsLeftForLong_TellsOfItsBeginningAndItsEnd()
    {
        var time = new ManualTime();
        using var links = new LoopbackLinks(LoopbackLinks.Settings with { Time = time });
        (LinkConnection first, LinkConnection accepted) = links.Pair();
        first.Dispose();
        accepted.Dispose();
        using var waiting = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        using (new NoDescriptors())
        {
            waiting.Connect(IPAddress.Loopback, links.Port);
            Deadline.Await(() => !links.Log.IsEmpty, "a line about the beginning");
            time.Advance(TimeSpan.FromSeconds(30));
        }
        Deadline.Await(() => { time.Advance(TimeSpan.FromMilliseconds(100)); return links.Log.Count > 1; }, "a line about the end");
        Assert.Equal(2, links.Log.Count);
        Assert.Contains("could not accept", links.Log.First(), StringComparison.Ordinal);
        Assert.Contains("accepts connections again", links.Log.Last(), StringComparison.Ordinal);
    }

    private static Exception? Dialled(string address)
    {
        try
        {
            LinkDialler.Dial(address, LoopbackLinks.Settings).Dispose();
            return null;
        }
        catch (Exception e)
        {
            return e;
        }
    }
}
