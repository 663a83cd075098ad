import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import org.apache.iceberg.AppendFiles;
import org.apache.iceberg.ContentFile;
import org.apache.iceberg.ContentFileParser;
import org.apache.iceberg.ContentScanTask;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.ManifestFile;
import org.apache.iceberg.ManifestFiles;
import org.apache.iceberg.ManifestWriter;
import org.apache.iceberg.MetadataTableType;
import org.apache.iceberg.MetadataTableUtils;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Partitioning;
import org.apache.iceberg.RewriteManifests;
import org.apache.iceberg.ScanTaskGroup;
import org.apache.iceberg.Schema;
import org.apache.iceberg.StructLike;
import org.apache.iceberg.Table;
import org.apache.iceberg.UpdatePartitionSpec;
import org.apache.iceberg.actions.BinPackRewriteFilePlanner;
import org.apache.iceberg.actions.BinPackRewritePositionDeletePlanner;
import org.apache.iceberg.actions.FileRewritePlan;
import org.apache.iceberg.actions.RewriteDataFiles;
import org.apache.iceberg.actions.RewriteFileGroup;
import org.apache.iceberg.actions.RewritePositionDeleteFiles;
import org.apache.iceberg.actions.RewritePositionDeletesGroup;
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.OutputFile;
import org.apache.iceberg.relocated.com.google.common.util.concurrent.MoreExecutors;
import org.apache.iceberg.shaded.com.fasterxml.jackson.databind.JsonNode;
import org.apache.iceberg.types.Types;
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

  /** A table with one partition spec after the other, each a list of columns. */
  public Table create(Catalog catalog, TableIdentifier name, Schema schema, String specs, Map properties)
      throws Exception {
    Iterator layout = ((JsonNode) JsonUtil.mapper().readTree(specs)).elements();
    List columns = texts((JsonNode) layout.next());
    PartitionSpec.Builder builder = PartitionSpec.builderFor(schema);
    for (int i = 0; i < columns.size(); i++) {
      builder.identity((String) columns.get(i));
    }
    Table table = catalog.createTable(name, schema, builder.build(), properties);
    while (layout.hasNext()) {
      List next = texts((JsonNode) layout.next());
      UpdatePartitionSpec update = table.updateSpec();
      for (int i = 0; i < next.size(); i++) {
        if (!columns.contains(next.get(i))) {
          update.addField((String) next.get(i));
        }
      }
      for (int i = 0; i < columns.size(); i++) {
        if (!next.contains(columns.get(i))) {
          update.removeField((String) columns.get(i));
        }
      }
      update.commit();
      columns = next;
    }
    return table;
  }

  private List texts(JsonNode node) {
    List found = new ArrayList();
    Iterator elements = node.elements();
    while (elements.hasNext()) {
      found.add(((JsonNode) elements.next()).asText());
    }
    return found;
  }

  /** Puts manifests in place of the one of placeholders. Iceberg's own pool would be polled every 10 ms. */
  public void fill(Table table, ManifestFile placeholders, String manifests) throws Exception {
    ExecutorService sameThread = MoreExecutors.newDirectExecutorService();
    AppendFiles append = table.newFastAppend();
    append.scanManifestsWith(sameThread);
    append.appendManifest(placeholders).commit();
    RewriteManifests rewrite = table.rewriteManifests();
    rewrite.scanManifestsWith(sameThread);
    rewrite.deleteManifest(placeholders);
    Iterator nodes = ((JsonNode) JsonUtil.mapper().readTree(manifests)).elements();
    while (nodes.hasNext()) {
      rewrite.addManifest(manifest(table, (JsonNode) nodes.next()));
    }
    rewrite.commit();
  }

  /** Writes a manifest of one spec. */
  public ManifestFile manifest(Table table, String manifest) throws Exception {
    return manifest(table, (JsonNode) JsonUtil.mapper().readTree(manifest));
  }

  private ManifestFile manifest(Table table, JsonNode manifest) throws Exception {
    PartitionSpec spec = (PartitionSpec) table.specs().get(Integer.valueOf(manifest.get("spec-id").asInt()));
    OutputFile output = table.io().newOutputFile(manifest.get("path").asText());
    int version = manifest.get("format-version").asInt();
    ManifestWriter writer =
        manifest.get("deletes").asBoolean()
            ? ManifestFiles.writeDeleteManifest(version, spec, output, null)
            : ManifestFiles.write(version, spec, output, null);
    return written(writer, manifest.get("entries"), table.specs());
  }

  /** Existing files, or added ones where their sequence number is null. */
  private ManifestFile written(ManifestWriter writer, JsonNode entries, Map specs) throws Exception {
    Iterator nodes = entries.elements();
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

  /** A line for each group of position delete files, as in `plan`, and their count before them. */
  public String planDeletes(Table table, Map options) throws Exception {
    BinPackRewritePositionDeletePlanner planner = new BinPackRewritePositionDeletePlanner(table);
    planner.init(options);
    FileRewritePlan plan = planner.plan();
    Table deletes = MetadataTableUtils.createMetadataTableInstance(table, MetadataTableType.POSITION_DELETES);
    List fields = Partitioning.partitionType(deletes).fields();
    StringBuilder text = new StringBuilder().append(plan.totalGroupCount());
    Iterator groups = plan.groups().iterator();
    while (groups.hasNext()) {
      text.append("\n").append(deleteLine((RewritePositionDeletesGroup) groups.next(), fields));
    }
    return text.toString();
  }

  private String deleteLine(RewritePositionDeletesGroup group, List fields) {
    StructLike values = ((RewritePositionDeleteFiles.FileGroupInfo) group.info()).partition();
    List pairs = new ArrayList();
    for (int i = 0; i < fields.size(); i++) {
      pairs.add(((Types.NestedField) fields.get(i)).name() + "=" + values.get(i, Object.class));
    }
    List paths = new ArrayList();
    for (int i = 0; i < group.fileScanTasks().size(); i++) {
      paths.add(((ContentScanTask) group.fileScanTasks().get(i)).file().location());
    }
    return String.join("/", pairs)
        + "\t" + String.join(",", paths)
        + "\t" + group.inputFilesSizeInBytes()
        + "\t0"
        + "\t" + group.inputSplitSize()
        + "\t" + group.maxOutputFileSize()
        + "\t" + group.expectedOutputFiles()
        + "\t";
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
