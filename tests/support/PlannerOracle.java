import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.ContentFile;
import org.apache.iceberg.ContentFileParser;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.ManifestFile;
import org.apache.iceberg.ManifestWriter;
import org.apache.iceberg.ScanTaskGroup;
import org.apache.iceberg.Table;
import org.apache.iceberg.actions.BinPackRewriteFilePlanner;
import org.apache.iceberg.actions.FileRewritePlan;
import org.apache.iceberg.actions.RewriteDataFiles;
import org.apache.iceberg.actions.RewriteFileGroup;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.shaded.com.fasterxml.jackson.databind.JsonNode;
import org.apache.iceberg.util.JsonUtil;
import org.apache.iceberg.util.ScanTaskUtil;
import org.apache.iceberg.util.TableScanUtil;

/**
 * The inner loops of iceberg_oracle.py, where a call from Python for each file would take too long. Janino, which
 * comes with Spark, compiles it: no generics, no lambdas.
 */
public class PlannerOracle {
  private static final String SHUFFLING_PLANNER =
      "org.apache.iceberg.spark.actions.SparkShufflingDataRewritePlanner";

  /** Writes a manifest of existing files, or of added ones where their sequence number is null. */
  public ManifestFile manifest(ManifestWriter writer, String entries, Map specs) throws Exception {
    Iterator nodes = ((JsonNode) JsonUtil.mapper().readTree(entries)).elements();
    while (nodes.hasNext()) {
      JsonNode entry = (JsonNode) nodes.next();
      ContentFile file = ContentFileParser.fromJson(entry.get("file"), specs);
      JsonNode number = entry.get("sequence-number");
      if (number.isNull()) {
        writer.add(file);
      } else {
        writer.existing(file, 1L, number.asLong(), Long.valueOf(number.asLong()));
      }
    }
    writer.close();
    return writer.toManifestFile();
  }

  /** The count of planned groups, then a line for each group, its figures separated by tabs. */
  public String plan(Table table, Map options, boolean isShuffled, int lookback) throws Exception {
    BinPackRewriteFilePlanner planner =
        isShuffled ? shufflingPlanner(table) : new BinPackRewriteFilePlanner(table);
    planner.init(options);
    FileRewritePlan plan = planner.plan();
    StringBuilder text = new StringBuilder().append(plan.totalGroupCount());
    Iterator groups = plan.groups().iterator();
    while (groups.hasNext()) {
      text.append("\n").append(line(table, (RewriteFileGroup) groups.next(), lookback));
    }
    return text.toString();
  }

  /** A line for each data file: its path, how many delete files apply to it, and their bytes. */
  public String deletes(Table table) throws Exception {
    StringBuilder text = new StringBuilder();
    CloseableIterable planned = table.newScan().planFiles();
    Iterator tasks = planned.iterator();
    while (tasks.hasNext()) {
      FileScanTask task = (FileScanTask) tasks.next();
      long bytes = 0;
      for (int i = 0; i < task.deletes().size(); i++) {
        bytes += ScanTaskUtil.contentSizeInBytes((ContentFile) task.deletes().get(i));
      }
      text.append(((ContentFile) task.file()).location())
          .append("\t").append(task.deletes().size())
          .append("\t").append(bytes)
          .append("\n");
    }
    planned.close();
    return text.toString();
  }

  private String line(Table table, RewriteFileGroup group, int lookback) {
    List paths = new ArrayList();
    long deleteBytes = 0;
    Iterator tasks = group.fileScanTasks().iterator();
    while (tasks.hasNext()) {
      FileScanTask task = (FileScanTask) tasks.next();
      paths.add(((ContentFile) task.file()).location());
      deleteBytes += task.sizeBytes() - task.length();
    }
    return table.spec().partitionToPath(((RewriteDataFiles.FileGroupInfo) group.info()).partition())
        + "\t" + String.join(",", paths)
        + "\t" + group.inputFilesSizeInBytes()
        + "\t" + deleteBytes
        + "\t" + group.inputSplitSize()
        + "\t" + group.maxOutputFileSize()
        + "\t" + group.expectedOutputFiles()
        + "\t" + String.join(",", readBytes(group, lookback));
  }

  /** What each task of a Spark job reads of the group, as SparkStagedScan plans it. */
  private List readBytes(RewriteFileGroup group, int lookback) {
    List sums = new ArrayList();
    List packed = TableScanUtil.planTaskGroups(group.fileScanTasks(), group.inputSplitSize(), lookback, 0L);
    for (int i = 0; i < packed.size(); i++) {
      long sum = 0;
      Iterator tasks = ((ScanTaskGroup) packed.get(i)).tasks().iterator();
      while (tasks.hasNext()) {
        sum += ((FileScanTask) tasks.next()).length();
      }
      sums.add(String.valueOf(sum));
    }
    return sums;
  }

  /** The planner of sorts, whose class is closed to other packages. */
  private BinPackRewriteFilePlanner shufflingPlanner(Table table) throws Exception {
    Constructor constructor =
        Class.forName(SHUFFLING_PLANNER, true, Table.class.getClassLoader())
            .getDeclaredConstructor(new Class[] {Table.class, Expression.class, Long.class, boolean.class});
    constructor.setAccessible(true);
    Object[] arguments =
        new Object[] {
          table, Expressions.alwaysTrue(), Long.valueOf(table.currentSnapshot().snapshotId()), Boolean.FALSE
        };
    return (BinPackRewriteFilePlanner) constructor.newInstance(arguments);
  }
}
